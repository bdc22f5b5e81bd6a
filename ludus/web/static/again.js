// Questions that a change of the network cut off: asked again, where asking twice does no harm.

const TIMES = 3;
const PAUSE_MS = 300;

/** As `fetch`; a browser drops its requests when the machine joins or leaves a network, to its own server's as well. */
export async function fetchAgain(url, options = {}) {
  const times = (options.method ?? "GET") === "GET" ? TIMES : 1;
  for (let time = 1; ; time++) {
    try {
      return await fetch(url, options);
    } catch (error) {
      if (time === times) throw error;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}
