import { readFileSync } from "node:fs";
import { join } from "node:path";
import { story } from "../story.mjs";

const hook = join(import.meta.dirname, "generated-files.mjs");

await story(({ workspace, configuration, say, write, gennai, expect }) => {
  say("A file of the project is generated, and says so.");
  write(join(workspace, "src/theme/colours.js"), "// generated from docs/palette.json\nexport const ink = 'blue';\n");
  const command = `'${process.execPath}' '${hook}'`;
  const hooks = {
    PreToolUse: [{ matcher: "Write|Edit|MultiEdit", hooks: [{ type: "command", command, timeout: 10 }] }],
  };
  write(join(configuration, "hooks.json"), JSON.stringify({ hooks }));

  say("The agent is asked to change it.");
  const refused = gennai("run", "replace blue with green in src/theme/colours.js");
  expect(refused.code === 3, "the run ends with exit code 3", refused.output);
  expect(
    /A hook of the user refused this: this file is generated/.test(refused.output),
    "the hook's words are the reason",
    refused.output,
  );
  expect(/blue/.test(readFileSync(join(workspace, "src/theme/colours.js"), "utf8")), "the file is as it was");

  say("Another file is none of the hook's business.");
  const allowed = gennai("run", "replace colour with color in src/main.js");
  expect(allowed.code === 0 && /Changed: src\/main\.js/.test(allowed.output), "it is changed", allowed.output);

  say("A hook that fails refuses, too.");
  write(
    join(configuration, "hooks.json"),
    JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "exit 7" }] }] } }),
  );
  const failed = gennai("run", "append x to README.md");
  expect(failed.code === 3 && /hook_failed/.test(failed.output), "nothing is changed", failed.output);
});
