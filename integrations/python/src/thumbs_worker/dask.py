"""Thumbnails in Dask: a worker for each process of Dask, shared by its threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from thumbs_worker.arrow import RESULT, column_items, result_array
from thumbs_worker.options import Options, Size
from thumbs_worker.pool import shared_worker


def thumbnails(
    df: Any,
    url: str = "url",
    sizes: Sequence[Size] = (256,),
    *,
    column: str = "thumbs",
    data: str | None = None,
    options: Options | None = None,
    program: str | None = None,
) -> Any:
    """The rows of a `dask.dataframe.DataFrame`, each once, with a column of results.

    The column has an Arrow type, a struct with the names of `Result`; in Python a value is a dictionary. `data` names a
    column of images' bytes in place of `url`. It runs as often as Dask needs the rows.
    """
    chosen = options or Options(sizes=tuple(sizes))
    meta = df._meta.assign(**{column: pd.Series([], dtype=pd.ArrowDtype(RESULT), index=df._meta.index)})
    return df.map_partitions(_add, data or url, data is not None, column, chosen, program, meta=meta)


def _add(
    frame: pd.DataFrame, url: str, is_data: bool, column: str, options: Options, program: str | None
) -> pd.DataFrame:
    table = pa.table({url: pa.array(frame[url], from_pandas=True)})
    results = shared_worker(options, program).map(column_items(table, url, is_data), ordered=True)
    values = pd.arrays.ArrowExtensionArray(pa.chunked_array([result_array(results)]))
    return frame.assign(**{column: pd.Series(values, index=frame.index)})
