import { expect, test } from "vitest";
import { claudeCode } from "#hosts/claude-code";
import { codex } from "#hosts/codex";

const command = `A= '/o p/it'\\''s' guard hook x || exit 2`;
const settings = {
  hooks: {
    PreToolUse: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 60 }] }],
    Stop: [{ hooks: [{ type: "command", command, timeout: 60 }] }],
  },
};

test("Claude Code's file of administrators lets no other hooks run", () => {
  expect(JSON.parse(claudeCode.hook.managed?.text(settings) ?? "")).toEqual({
    allowManagedHooksOnly: true,
    ...settings,
  });
});

test("Codex's file of administrators has the same hooks, in TOML, and the feature is on", () => {
  const text = String.raw`"A= '/o p/it'\\''s' guard hook x || exit 2"`;
  expect(codex.hook.managed?.text(settings)).toBe(`allow_managed_hooks_only = true

[hooks]
managed_dir = "/etc/codex"

[[hooks.PreToolUse]]
matcher = "*"
[[hooks.PreToolUse.hooks]]
type = "command"
command = ${text}
timeout = 60

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = ${text}
timeout = 60

[features]
hooks = true
`);
});

test("an event whose name would end its table is not written", () => {
  expect(() => codex.hook.managed?.text({ hooks: { "x]]\nallow_managed_hooks_only = false": [] } })).toThrow();
});
