import { hostSuite } from "../fixtures/host-suite.ts";

await hostSuite(new URL("../host/belongs-to-editor.ts", import.meta.url), {
  files: {
    "src/a.ts": "export const a = 1;\nexport const b = 2;\nexport const c = 3;\n",
    "docs/read me.md": "# Hello\n",
  },
});
