import { type CommandResult, type CorpusCommand, runCommands } from "./run-commands.ts";

const files = {
  "src/a.ts": "export const a = 1;\n",
  "src/index.ts": 'export * from "./a.ts";\n',
  "src/old.ts": "export const old = 1;\n",
  "docs/notes.md": "# Notes\n",
  "README.md": "# Read me\n",
  "package.json":
    '{ "name": "app", "version": "1.0.0", "scripts": { "test": "node t.mjs", "build": "mkdir -p dist && echo 1 > dist/app.js", "lint": "true" } }\n',
  "t.mjs": "console.log(1);\n",
  "data.txt": "1\n",
  ".gitignore": "node_modules\ndist\n.env\n",
  Makefile: "all:\n\techo hi\n",
};

/** Runs everyday commands, and says which of them a person would be asked about, or were refused. */
export async function askedOf(
  commands: readonly CorpusCommand[],
  onResult: (result: CommandResult) => void = () => undefined,
): Promise<readonly CommandResult[]> {
  const asked: CommandResult[] = [];
  await runCommands(commands, {
    files,
    timeoutMs: 8_000,
    onResult: (result) => {
      if (result.outcome !== "ran") asked.push(result);
      onResult(result);
    },
  });
  return asked;
}
