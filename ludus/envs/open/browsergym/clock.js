// The clock of a page: time passes only when it is told to. Timers that are due run at once, in order, so that a page
// that waits costs no waiting, and the same actions give the same history on a busy machine and on an idle one.
(() => {
  if (window.__ludus) return;
  const EPOCH = Date.UTC(2026, 0, 5, 9, 0, 0);
  const FRAME = 16;
  const MAX_CALLBACKS = 5000;
  const real = {
    Date, setTimeout: window.setTimeout.bind(window), MessageChannel, Image,
    fetch: window.fetch && window.fetch.bind(window), send: XMLHttpRequest.prototype.send,
  };
  let above = null;
  try { above = window.parent !== window && window.parent.__ludus ? window.parent.__ludus : null; } catch { above = null; }
  const clock = above ? above.clock : { now: EPOCH, timers: new Map(), ids: 0, pending: 0 };

  const task = () => new Promise((done) => {
    const channel = new real.MessageChannel();
    channel.port1.onmessage = () => { channel.port1.close(); done(); };
    channel.port2.postMessage(0);
  });
  const later = (callback, delay, repeat, args) => {
    const id = ++clock.ids, wait = Math.max(repeat ? 1 : 0, Number(delay) || 0);
    clock.timers.set(id, { id, due: clock.now + wait, repeat: repeat ? wait : 0, callback, args, home: window });
    return id;
  };
  const stop = (id) => { clock.timers.delete(Number(id)); };
  window.setTimeout = function setTimeout(callback, delay, ...args) { return later(callback, delay, false, args); };
  window.setInterval = function setInterval(callback, delay, ...args) { return later(callback, delay, true, args); };
  window.clearTimeout = window.clearInterval = stop;
  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    const next = FRAME - ((clock.now - EPOCH) % FRAME);
    return later((...args) => callback(clock.now - EPOCH, ...args), next, false, []);
  };
  window.cancelAnimationFrame = stop;
  window.requestIdleCallback = function requestIdleCallback(callback) {
    return later(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1, false, []);
  };
  window.cancelIdleCallback = stop;
  window.Date = new Proxy(real.Date, {
    construct: (target, args, kind) => Reflect.construct(target, args.length ? args : [clock.now], kind === window.Date ? target : kind),
    apply: (target) => new target(clock.now).toString(),
    get: (target, key) => (key === "now" ? () => clock.now : Reflect.get(target, key)),
  });
  try { performance.now = () => clock.now - EPOCH; } catch { /* it stays the browser's */ }
  let drawn = 0x9e3779b9;
  Math.random = () => {
    drawn = (drawn + 0x6d2b79f5) | 0;
    let t = Math.imul(drawn ^ (drawn >>> 15), 1 | drawn);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  if (real.fetch) {
    window.fetch = function fetch(...args) {
      clock.pending++;
      return real.fetch(...args).finally(() => { clock.pending--; });
    };
  }
  XMLHttpRequest.prototype.send = function send(...args) {
    clock.pending++;
    this.addEventListener("loadend", () => { clock.pending--; }, { once: true });
    return real.send.apply(this, args);
  };
  const heard = new WeakMap();
  const listen = EventTarget.prototype.addEventListener;
  const POINTING = new Set(["click", "mousedown", "mouseup", "pointerdown", "touchstart", "dblclick"]);
  EventTarget.prototype.addEventListener = function addEventListener(type, ...rest) {
    if (POINTING.has(type) && this instanceof Element) heard.set(this, true);
    return listen.call(this, type, ...rest);
  };

  const call = (timer) => {
    if (timer.repeat) timer.due = clock.now + timer.repeat;
    else clock.timers.delete(timer.id);
    try {
      if (typeof timer.callback === "function") timer.callback.apply(timer.home, timer.args);
      else timer.home.eval(String(timer.callback));
    } catch (error) { console.error(error); }
  };
  const earliest = () => {
    let first = null;
    for (const one of clock.timers.values()) if (!first || one.due < first.due) first = one;
    return first;
  };
  const settle = () => {
    for (const one of document.getAnimations()) {
      try { if (one.effect && one.effect.getComputedTiming().endTime !== Infinity) one.finish(); } catch { /* it has no end */ }
    }
  };
  const CONTENT = /content:[^;{}]*url\(/i, ADDRESS = /url\(\s*["']?([^"')]+)/gi;
  const asked = new Map();
  const read = new WeakSet();
  /** Asks for the pictures that a style may put in an element's place once a script shows it: it has their size then. */
  const ask = (view) => {
    for (const sheet of view.document.styleSheets) {
      if (read.has(sheet)) continue;
      read.add(sheet);
      const inline = sheet.href === null && sheet.ownerNode ? sheet.ownerNode.textContent : null;
      if (inline !== null && !CONTENT.test(inline)) continue;
      let rules = [];
      try { rules = [...sheet.cssRules]; } catch { /* of another host */ }
      for (const rule of rules) {
        if (!CONTENT.test(rule.cssText)) continue;
        for (const [, address] of rule.cssText.matchAll(ADDRESS)) {
          const url = new URL(address, sheet.href || view.document.baseURI).href;
          if (asked.has(url)) continue;
          const picture = new real.Image();
          picture.src = url;
          asked.set(url, picture);
        }
      }
    }
  };
  const missing = (picture) => !picture.complete && picture.loading !== "lazy";
  /** Whether everything that was asked for has come; waits for it in real time, at most `most` milliseconds. */
  const quiet = async (most) => {
    const end = real.Date.now() + most;
    const waiting = (view) => {
      const page = view.document;
      if (page.readyState !== "complete" || [...page.images].some(missing) || page.fonts.status === "loading") return true;
      ask(view);
      return [...page.querySelectorAll("iframe")].some((frame) => {
        try { return frame.contentWindow && waiting(frame.contentWindow); } catch { return false; }
      });
    };
    const busy = () => clock.pending > 0 || window.WOB_TASK_READY === false || waiting(window) || [...asked.values()].some(missing);
    while (busy() && real.Date.now() < end) await new Promise((done) => real.setTimeout(done, 1));
    return !busy();
  };
  /** Let `milliseconds` pass: whatever is due in them runs, in order. */
  const advance = async (milliseconds, most) => {
    await task();
    let still = await quiet(most);
    const end = clock.now + milliseconds;
    for (let ran = 0; ran < MAX_CALLBACKS; ran++) {
      const timer = earliest();
      if (!timer || timer.due > end) break;
      clock.now = Math.max(clock.now, timer.due);
      call(timer);
      await task();
      if (clock.pending) still = await quiet(most);
    }
    clock.now = Math.max(clock.now, end);
    settle();
    await task();
    return (await quiet(most)) && still;
  };
  let unshared = () => {};
  /** Loads a page of libraries in a frame: whatever uses them next in this process finds them compiled. */
  const shared = (url) => new Promise((done) => {
    unshared = done;
    const frame = document.createElement("iframe");
    frame.src = url;
    listen.call(frame, "load", () => done(), { once: true });
    document.body.append(frame);
  });
  /** Another document in the place of this one, which leaves nothing; the window stays, and must have seen no script but ours. */
  const write = (url, page) => new Promise((done) => {
    unshared();
    history.replaceState(null, "", url);
    document.open();
    clock.timers.clear();
    clock.ids = 0;
    listen.call(window, "load", () => task().then(done), { once: true }); // after what the page itself does then
    document.write(page);
    document.close();
  });
  Object.defineProperty(window, "__ludus", { value: { clock, advance, shared, write, heard, now: () => clock.now - EPOCH }, enumerable: false });
})();
