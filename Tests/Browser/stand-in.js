/**
 * Stands in for the server within the page: requests below /api/ and the event stream end here, so that tests can put
 * the page into any state. `standIn.set({…})` changes the snapshot and sends it. Tests choose `window.standInSetup`.
 */
(() => {
  const setup = { kind: 'search', count: 40, total: 40, sections: null, ...window.standInSetup };
  const streams = new Set();
  setInterval(() => streams.forEach((stream) => stream.dispatchEvent(new Event('alive'))), 5000);
  const standIn = {
    sent: [],
    isDown: false,
    version: 1,
    hidden: [],
    /** Whether sizes are not known yet. */
    isUnsized: false,
    /** Whether the list has the other order. */
    isReversed: false,
    snapshot: {
      version: 1,
      query: '',
      state: 'loaded',
      message: null,
      offline: false,
      count: setup.count,
      total: setup.total,
      more: setup.total > setup.count,
      sections: setup.sections ?? [{ title: null, count: setup.count }],
      hidden: 0,
    },
    /** The streams that are open. */
    get streamCount() {
      return streams.size;
    },
    /** What a search does; tests replace it. */
    search(query) {
      standIn.revise({ query });
    },
    set(change) {
      Object.assign(standIn.snapshot, change);
      if (change.count !== undefined && !change.sections) {
        standIn.snapshot.sections = [{ title: null, count: change.count }];
      }
      for (const stream of streams) stream.deliver();
    },
    /** A change after which former indexes no longer hold. */
    revise(change) {
      standIn.version += 1;
      standIn.set({ version: standIn.version, ...change });
    },
    down() {
      standIn.isDown = true;
      for (const stream of [...streams]) stream.fail();
    },
    up() {
      standIn.isDown = false;
    },
  };
  window.standIn = standIn;

  function name(number) {
    return `i${String(number).padStart(setup.idLength ?? 0, '0')}`;
  }

  /** The item at an index, given those that are hidden. */
  function item(index) {
    let number = standIn.isReversed ? standIn.snapshot.count - 1 - index : index;
    for (const hidden of standIn.hidden) if (hidden <= number) number += 1;
    return {
      id: name(number),
      key: number.toString(16).padStart(32, '0'),
      name: `lake-${number}.jpg`,
      width: 600,
      height: 400,
      hash: 'JBgSDYKGeId3Z3iIeHd3eHiHeA',
      color: '#336699',
      description: null,
      author: setup.kind === 'search' ? 'Ada Lindqvist' : null,
      authorURL: null,
      page: setup.kind === 'search' ? 'https://photos.invalid/1' : null,
      licence: setup.kind === 'search' ? 'CC BY 4.0' : null,
      licenceURL: null,
      date: '2026-11-20',
      dateSource: 'camera',
      bytes: 123456,
      download: `/picture/${number.toString(16).padStart(32, '0')}/original`,
      ...setup.item,
      ...(standIn.isUnsized && { width: undefined, height: undefined }),
    };
  }

  const commands = {
    search: ({ query }) => standIn.search(query),
    order: () => standIn.revise({}),
    delete({ ids }) {
      hide([...standIn.hidden, ...ids.map((id) => Number(id.slice(1)))]);
    },
    undo({ ids }) {
      const shown = ids ?? standIn.hidden.map(name);
      hide(standIn.hidden.filter((number) => !shown.includes(name(number))));
      return { ids: shown };
    },
  };

  function hide(hidden) {
    const more = hidden.length - standIn.hidden.length;
    standIn.hidden = hidden.sort((a, b) => a - b);
    const { count, total } = standIn.snapshot;
    standIn.revise({ count: count - more, total: total - more, hidden: hidden.length });
  }

  const realFetch = window.fetch;
  window.fetch = async (path, options = {}) => {
    const url = new URL(path, location.href);
    if (!url.pathname.startsWith('/api/')) return realFetch(path, options);
    if (standIn.isDown) throw new TypeError('Failed to fetch');
    const body = options.body ? JSON.parse(options.body) : null;
    const verb = url.pathname.split('/').at(-1);
    standIn.sent.push({ verb, body, token: options.headers?.['X-Thumbs-Token'], time: performance.now() });
    const { count, version } = standIn.snapshot;
    if (verb === 'gallery') {
      const { kind } = setup;
      return Response.json({ title: 'Lakes', kind, hint: 'Search in Lakes', picksRandom: true, token: 'secret' });
    }
    if (verb === 'sessions') {
      standIn.snapshot.query = body.query;
      return Response.json({ id: 'S' }, { status: 201 });
    }
    const from = Number(url.searchParams.get('from'));
    if (verb === 'items' || verb === 'aspects' || verb === 'positions') {
      if ((body?.version ?? Number(url.searchParams.get('version'))) !== version) {
        return Response.json({ error: 'version', message: 'gone' }, { status: 409 });
      }
      if (verb === 'positions') {
        const ids = Array.from({ length: count }, (_, index) => item(index).id);
        return Response.json({ positions: body.ids.map((id) => ids.indexOf(id)) });
      }
      const end = verb === 'aspects' ? count : Math.min(from + Number(url.searchParams.get('count')), count);
      const indexes = Array.from({ length: Math.max(end - from, 0) }, (_, position) => from + position);
      if (verb === 'aspects') return new Response(Uint8Array.from(indexes, (index) => 128 + (index % 3) * 19));
      return Response.json({ version, from, items: indexes.map(item) });
    }
    const answer = commands[verb]?.(body);
    return answer ? Response.json(answer) : new Response(null, { status: 204 });
  };

  window.EventSource = class extends EventTarget {
    constructor() {
      super();
      setTimeout(() => {
        if (standIn.isDown) return this.onerror?.();
        streams.add(this);
        this.onopen?.();
        this.deliver();
      });
    }

    deliver() {
      this.onmessage?.({ data: JSON.stringify(standIn.snapshot) });
    }

    fail() {
      streams.delete(this);
      this.onerror?.();
    }

    close() {
      streams.delete(this);
    }
  };
})();
