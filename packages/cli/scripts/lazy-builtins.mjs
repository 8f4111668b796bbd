// Modules of Node's that take milliseconds each to load, and that few runs use: a bundle loads them when one of their exports is
// first read, and not because something imports them.
import { createRequire } from "node:module";

const heavy = [
  "dns",
  "dns/promises",
  "http2",
  "https",
  "inspector",
  "readline",
  "readline/promises",
  "tls",
  "worker_threads",
  "zlib",
];
const require = createRequire(import.meta.url);

/** @type {import("esbuild").Plugin} */
export const lazyBuiltins = {
  name: "lazy-builtins",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(?:node:)?(?:${heavy.join("|")})$`) }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: "lazy-builtin",
    }));
    onLoad({ filter: /.*/, namespace: "lazy-builtin" }, ({ path }) => ({
      contents: `
const read = (name) => process.getBuiltinModule("node:${path}")[name];
for (const name of ${JSON.stringify(Object.keys(require(`node:${path}`)))})
  Object.defineProperty(exports, name, { enumerable: true, configurable: true, get() {
    const value = read(name);
    Object.defineProperty(exports, name, { enumerable: true, value });
    return value;
  } });
`,
      loader: "js",
    }));
  },
};
