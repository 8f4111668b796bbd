import { hostSuite } from "../fixtures/host-suite.ts";

await hostSuite(new URL("../host/editor.ts", import.meta.url), { files: { "src/a.ts": "export const a = 1;\n" } });
