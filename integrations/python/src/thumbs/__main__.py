"""`python -m thumbs …` is `thumbs …`."""

import sys

from thumbs_worker.program import main

sys.exit(main())
