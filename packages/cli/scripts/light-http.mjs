// An `import` of `node:http` reads every export once, and one of them, WebSocket, loads all of Node's `fetch`: 30 ms at each
// start. So the bundle takes what it names from the module itself.
import http from "node:http";

const heavy = new Set(["WebSocket", "CloseEvent", "MessageEvent"]);
const names = Object.keys(http).filter((name) => !heavy.has(name));
const lightId = "\0light-http";

/** @type {import("rolldown").Plugin} */
export const lightHttp = {
  name: "light-http",
  resolveId: {
    filter: { id: /^(?:node:)?http$/ },
    handler: (_id, _importer, { kind }) => (kind === "import-statement" ? lightId : undefined),
  },
  load: {
    filter: { id: new RegExp(`^${lightId}$`) },
    handler: () => ({
      code: `const http = process.getBuiltinModule("node:http");\nexport const { ${names.join(", ")} } = http;\nexport default http;\n`,
      moduleSideEffects: false,
    }),
  },
};
