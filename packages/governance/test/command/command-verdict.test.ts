import { describe, expect, it } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import { commandVerdict } from "#policies/commands";
import { awkAndSedCases } from "./cases/awk-and-sed-cases.ts";
import type { CommandCases } from "./cases/command-cases.ts";
import { deleteCases } from "./cases/delete-cases.ts";
import { environmentCases } from "./cases/environment-cases.ts";
import { gitCases } from "./cases/git-cases.ts";
import { interpreterCases } from "./cases/interpreter-cases.ts";
import { networkCases } from "./cases/network-cases.ts";
import { readingCases } from "./cases/reading-cases.ts";
import { secretCases } from "./cases/secret-cases.ts";
import { shellLanguageCases } from "./cases/shell-language-cases.ts";
import { systemCases } from "./cases/system-cases.ts";
import { unreadableCases } from "./cases/unreadable-cases.ts";
import { windowsCases } from "./cases/windows-cases.ts";
import { wrapperCases } from "./cases/wrapper-cases.ts";
import { writingCases } from "./cases/writing-cases.ts";

const topics: readonly (readonly [name: string, cases: CommandCases])[] = [
  ["programs that read", readingCases],
  ["awk and sed", awkAndSedCases],
  ["git", gitCases],
  ["deleting", deleteCases],
  ["writing", writingCases],
  ["secrets", secretCases],
  ["the environment", environmentCases],
  ["the network", networkCases],
  ["programs that run another", wrapperCases],
  ["interpreters", interpreterCases],
  ["the shell's language", shellLanguageCases],
  ["the machine", systemCases],
  ["other systems", windowsCases],
  ["text that nobody can read", unreadableCases],
];

const analyse = (command: string) => analyseCommand(command, { cwd: "/ws", home: "/home/dev" });
const verdict = (command: string) => commandVerdict(analyse(command)).type;

describe.each(topics)("%s", (_name, cases) => {
  it.each(cases.allowed ?? [])("proves that %j reads", (command) => {
    expect(analyse(command)).toMatchObject({ readsOnly: true, risk: "low", unresolved: [], dangers: [] });
    expect(verdict(command)).toBe("allow");
  });

  it.each(cases.neverDenied ?? [])("does not refuse %j", (command) => {
    expect(verdict(command)).not.toBe("deny");
  });

  it.each(cases.asked ?? [])("asks about %j", (command) => {
    expect(verdict(command)).toBe("ask");
  });

  it.each(cases.neverSilent ?? [])("never runs %j silently", (command) => {
    expect(verdict(command)).not.toBe("allow");
  });

  it.each(cases.denied ?? [])("refuses %j", (command) => {
    expect(verdict(command)).toBe("deny");
  });
});
