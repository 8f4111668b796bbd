import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { commandEnvironment } from "#process/environment/command-environment";
import { plainShell } from "#process/environment/plain-shell";
import { holdDirectory } from "#process/run-command";
import { runShellCommand } from "#shell/shell-runner";

test.each([
  { what: "a command that writes", readsOnly: false, startsNothing: false, steps: ["turn", "begin", "end"] },
  {
    what: "one that reads, by programs that may start others",
    readsOnly: true,
    startsNothing: false,
    steps: ["turn", "begin", "end"],
  },
  { what: "one that reads, by programs that start nothing", readsOnly: true, startsNothing: true, steps: [] },
])("without a sandbox, looks after control files around $what: $steps", async ({ readsOnly, startsNothing, steps }) => {
  await using repository = await temporaryRepository({ f: "a\n" });
  const taken: string[] = [];
  const controlWatch = {
    turn: async () => {
      taken.push("turn");
      return new DisposableStack();
    },
    begin: () => {
      taken.push("begin");
      const end = () => {
        if (!taken.includes("end")) taken.push("end");
        return { files: [], keptIn: "" };
      };
      return { end };
    },
  };
  const { run } = await runShellCommand(
    {
      text: "cat f",
      cwd: holdDirectory(repository.root),
      timeoutMs: 30_000,
      readsOnly,
      startsNothing,
      agreed: nothingAgreed,
    },
    {
      workspaceRoot: repository.root,
      environment: commandEnvironment(process.env),
      shellArguments: plainShell,
      controlWatch,
    },
    { signal: new AbortController().signal, onOutput: () => {} },
  );
  expect(run).toMatchObject({ exitCode: 0 });
  expect(taken).toEqual(steps);
});
