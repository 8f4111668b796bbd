import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import type { DrawnTerminal } from "./drawn-terminal.ts";
import { keys } from "./drawn-terminal.ts";
import { screenPicture } from "./screen-picture.ts";
import { terminalScene } from "./terminal-scene.ts";

const out = process.env["GENNAI_PICTURES"] ?? ".cache/e2e";
const empty = /^› ?$/m;

function picture(terminal: DrawnTerminal, name: string, title: string): void {
  mkdirSync(out, { recursive: true });
  // As long as a temporary directory's name.
  const drawn = screenPicture(terminal.emulator, title).replaceAll(
    /\/tmp\/gennai-test-\w{6}/g,
    "/home/you/projects/shop",
  );
  writeFileSync(join(out, `${name}.svg`), drawn);
}

test("pictures of the conversation in the terminal", async () => {
  const edit = { file_path: "src/colour.js", old_string: "// the colour\n", new_string: "// the color\n// of all\n" };
  const command = "sed -i s/--test/--version/ package.json";
  await using scene = await terminalScene(
    [
      [
        { text: "I will look at the file first." },
        { tool: { name: "Read", args: { file_path: "src/colour.js" } } },
        { tool: { name: "Edit", args: edit } },
        { text: "Done: **one** line is two now. The tests of `src/colour.js` come next." },
      ],
      // Of the person's own command, about which no model is asked.
      [{ text: "-" }],
      [{ tool: { name: "Bash", args: { command } } }, { text: "It prints the version now." }],
    ],
    {
      "src/colour.js": "// the colour\nexport const colour = 1;\n",
      "package.json": '{\n  "name": "app",\n  "version": "1.0.0",\n  "scripts": { "test": "node --test" }\n}\n',
    },
  );
  const terminal = scene.gennai([], { rows: 24, env: { COLORTERM: "", FORCE_COLOR: "1" } });
  await terminal.see("Ctrl-D");
  terminal.type(`rename the comment${keys.enter}`);
  await terminal.see("■ changed");
  await terminal.see(empty);
  terminal.type(`!node --version && ls src${keys.enter}`);
  await terminal.see("✓ Bash");
  await terminal.see(empty);
  picture(
    terminal,
    "terminal",
    "A conversation in a terminal: a request, an edit with its lines, and a command of the person's own.",
  );
  terminal.type(`let npm test print the version${keys.enter}`);
  await terminal.see("y keep");
  picture(
    terminal,
    "question",
    "A question takes the prompt's place: what a command changed, why it is asked about, the keys that answer.",
  );
  terminal.type("y");
  await terminal.see("the version now");
  terminal.type(keys.control("d"));
  await terminal.ended;
});

test("a picture of a review, which has the whole terminal", async () => {
  const write = (path: string, content: string) => ({ tool: { name: "Write", args: { file_path: path, content } } });
  const edit = { file_path: "src/colour.js", old_string: "// the colour\n", new_string: "// the color\n// of all\n" };
  await using scene = await terminalScene(
    [
      [
        { tool: { name: "Read", args: { file_path: "src/colour.js" } } },
        { tool: { name: "Edit", args: edit } },
        write("src/size.js", "export const size = 2;\n"),
        { text: "Proposed." },
      ],
    ],
    { "src/colour.js": "// the colour\nexport const colour = 1;\n" },
  );
  const terminal = scene.gennai(["--mode", "proposal"], { rows: 20, env: { COLORTERM: "", FORCE_COLOR: "1" } });
  await terminal.see("Ctrl-D");
  terminal.type(`rename the comment${keys.enter}`);
  await terminal.see("/review");
  await terminal.see(empty);
  terminal.type(`/review${keys.enter}`);
  await terminal.see("2 open");
  terminal.type("y");
  await terminal.see("1 kept");
  picture(terminal, "terminal-review", "A review on the whole terminal: a hunk that is kept, the next, and the keys.");
  terminal.type("q");
  terminal.type(keys.control("d"));
  await terminal.ended;
});
