// An `import` of `node:http` reads every export once, and one of them, WebSocket, loads all of Node's `fetch`: 30 ms at each
// start. So the bundle takes what it names from the module itself.
import http from "node:http";

const heavy = new Set(["WebSocket", "CloseEvent", "MessageEvent"]);
const names = Object.keys(http).filter((name) => !heavy.has(name));

/** @type {import("esbuild").Plugin} */
export const lightHttp = {
  name: "light-http",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === "import-statement" ? { path: "http", namespace: "light-http", sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace: "light-http" }, () => ({
      contents: `const http = process.getBuiltinModule("node:http");\nexport const { ${names.join(", ")} } = http;\nexport default http;\n`,
    }));
  },
};
