import { describe, expect, it } from "vitest";
import { broughtArguments, launchCommand } from "../../../src/server/launch/launch-command.ts";
import { decideLaunch, type LaunchFacts } from "../../../src/server/launch-decision.ts";

const plain: LaunchFacts = {
  trusted: true,
  hasFolder: true,
  autoLaunch: "ask",
  baseUrl: "",
  serverCommand: "",
  asked: false,
  declined: false,
};

const rows: readonly { readonly name: string; readonly facts: Partial<LaunchFacts>; readonly want: string }[] = [
  { name: "offers", facts: {}, want: "offer" },
  { name: "offers once", facts: { declined: true }, want: "leave" },
  { name: "never", facts: { autoLaunch: "never" }, want: "leave" },
  { name: "always", facts: { autoLaunch: "always" }, want: "launch" },
  { name: "never, but the user asks now", facts: { autoLaunch: "never", asked: true }, want: "launch" },
  { name: "untrusted, always", facts: { trusted: false, autoLaunch: "always" }, want: "refuse" },
  { name: "untrusted, asked", facts: { trusted: false, asked: true }, want: "refuse" },
  { name: "no folder", facts: { hasFolder: false, asked: true }, want: "refuse" },
  { name: "a server elsewhere", facts: { baseUrl: "https://far.example", asked: true }, want: "refuse" },
  { name: "a relative program", facts: { serverCommand: "./gennai", asked: true }, want: "refuse" },
  { name: "a bare program", facts: { serverCommand: "evil", autoLaunch: "always" }, want: "refuse" },
  { name: "an absolute program", facts: { serverCommand: "/opt/gennai", asked: true }, want: "launch" },
];

it.each(rows)("decideLaunch: $name: $want", ({ facts, want }) => {
  expect(decideLaunch({ ...plain, ...facts }).type).toBe(want);
});

describe("launchCommand", () => {
  const choice = { port: 7777, workspace: "/w s", commands: "auto" as const, protectedBranches: [] };
  const args = ["serve", "--port", "7777", "--workspace", "/w s"];

  it("looks a name up", () => {
    expect(launchCommand("gennai", choice)).toEqual({ program: "gennai", args, isPath: false });
  });

  it("runs a script by node", () => {
    const want = { program: "node", isPath: false, args: ["/opt/gennai.mjs", ...args] };
    expect(launchCommand("/opt/gennai.mjs", choice)).toEqual(want);
  });

  it("passes the governance switches, and no branch that is an option or shell text", () => {
    const protectedBranches = ["release/*", "--no-auth", "a;b", "$(x)"];
    const command = launchCommand("/opt/gennai", { ...choice, commands: "staged", protectedBranches });
    expect(command).toEqual({
      program: "/opt/gennai",
      isPath: true,
      args: [...args, "--commands", "staged", "--protect", "release/*"],
    });
  });

  it("lets other windows share the server that the extension brings, and lets it end", () => {
    const command = ["serve", "--port", "0", "--workspace", "/w s", "--shared", "--quit-when-idle", "10"];
    expect(broughtArguments(choice)).toEqual(command);
  });
});
