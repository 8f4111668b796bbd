import { Command } from "commander";
import { expect, test } from "vitest";
import { commandHost, said } from "#commands/command-host";
import { testConsole } from "../test-console.ts";

test("what is for people is only worked out where it is printed", async () => {
  const run = async (flags: readonly string[], text: () => Promise<string>) => {
    const console = testConsole("/", {});
    const { runs } = commandHost(console, () => undefined);
    const command = new Command("x").option("--json").action(runs(async () => async () => said({ a: 1 }, text)));
    await command.parseAsync([...flags], { from: "user" });
    return console.printed();
  };
  const costly = async (): Promise<string> => {
    throw new Error("it costs");
  };
  expect(await run(["--json"], costly)).toBe('{"a":1}\n');
  expect(await run([], async () => "one\n")).toBe("one\n");
  await expect(run([], costly)).rejects.toThrow("it costs");
});
