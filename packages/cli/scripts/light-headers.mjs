// Node loads all of `fetch` for its class `Headers`: 20 to 30 ms at each start. Two libraries make headers before anything is
// fetched, or where nothing ever is; they get a class of ours in its place.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const ours = join(import.meta.dirname, "..", "src", "light-headers.ts");
const libraries =
  /[\\/]node_modules[\\/]@(?:connectrpc[\\/]connect(?:-node)?|ai-sdk[\\/][a-z-]+)[\\/]dist[\\/].*\.m?js$/;

/** @type {import("esbuild").Plugin} */
export const lightHeaders = {
  name: "light-headers",
  setup({ onLoad }) {
    onLoad({ filter: libraries }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!/\bHeaders\b/.test(text)) return undefined;
      return { contents: `import { LightHeaders as Headers } from ${JSON.stringify(ours)};\n${text}`, loader: "js" };
    });
  },
};
