import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type DeclaredShell, declaredShell } from "../../../packages/vscode/src/terminal/declared-shell.ts";
import { type Checks, check } from "../corpus-case.ts";

/** `client.ui`: the shell that the extension's terminals run, and what is shown of a change. */
export const clientChecks: Checks = {
  "CUI-006": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs, environment } = declared;
    assert.match(shellPath, /\/bash$/);
    assert.ok(shellArgs.includes("--noprofile") && shellArgs.includes("--init-file"));
    assert.deepEqual([environment["BASH_ENV"], environment["ENV"]], [null, null]);
    await assert.rejects(declaredShell("/nowhere", "linux"), { code: "no_shell" });
    await assert.rejects(declaredShell("/nowhere", "win32"), { code: "no_shell" });
  }),
  "CUI-007": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs } = declared;
    const args = [...shellArgs, "-i", "-c", 'echo "flags $-"; echo a!!b'];
    const { stdout } = await promisify(execFile)(shellPath, args);
    assert.match(stdout, /^flags [^H\n]+\na!!b$/m);
  }),
};

/** The agent's shell, over an editor that has no more than its integration script. */
async function shell(): Promise<DeclaredShell & AsyncDisposable> {
  const editor = await temporaryDirectory({
    "out/vs/workbench/contrib/terminal/common/scripts/shellIntegration-bash.sh": "",
  });
  return { ...(await declaredShell(editor.root, "linux")), [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose]() };
}
