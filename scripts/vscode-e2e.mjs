// Makes what the tests in VS Code need and prints, as JSON, where it is: code-server, the bundled extension, its VSIX.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureCodeServer } from "./lib/code-server.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";

try {
  const codeServer = await ensureCodeServer();
  const extension = inRepository("packages", "vscode");
  const directory = inRepository(".cache", "e2e", "vsix");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const { code, output } = await run(packagedNode(), [join(extension, "scripts", "package.mjs"), directory], {
    cwd: extension,
    env: toolEnvironment(),
    output: "capture",
  });
  if (code !== 0) throw new Error(`${output}Packaging the extension failed (exit code ${code}).`);
  const [name] = readdirSync(directory);
  if (name === undefined) throw new Error(`${output}Packaging the extension left nothing in ${directory}.`);
  process.stdout.write(`${JSON.stringify({ codeServer, extension, vsix: join(directory, name) })}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
