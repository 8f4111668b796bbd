// Node loads its web streams when their classes are first named. One library extends one of them when it is loaded, and no start
// needs it: the bundle has the class made when the first one is.
import { readFile } from "node:fs/promises";

const declared = "class EventSourceParserStream extends TransformStream {";

/** @type {import("esbuild").Plugin} */
export const lazyStreams = {
  name: "lazy-streams",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]eventsource-parser[\\/]dist[\\/]stream\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      if (!text.includes(declared)) return { errors: [{ text: `${path} does not declare its stream as it did.` }] };
      return {
        contents: `${text.replace(declared, `const make = () => ${declared}`)}
let made;
function EventSourceParserStream(options) {
  return new (made ??= make())(options);
}
`,
        loader: "js",
      };
    });
  },
};
