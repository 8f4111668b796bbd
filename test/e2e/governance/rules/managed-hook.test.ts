import { expect, test } from "vitest";
import { onMachine } from "./managed-machine.ts";

const file = "/etc/codex/requirements.toml";
const policy = "gennai_policy: 1\nname: acme\n...\n";
const install = ["guard", "install", "codex", "--managed"];
/** The directories above this program are made there, for their maker alone. */
const opened = 'at=$(dirname "$2"); while [ "$at" != / ]; do chmod 755 "$at" 2> /tmp/errors; at=$(dirname "$at"); done';
const onRoot = (args: readonly string[], script: string) => onMachine(args, { policy, script: `${opened}; ${script}` });
const command = (program: string) => `command = "'/old/node' '${program}' guard hook codex || exit 2"`;

test("a hook for all users is readable by all whatever root's umask, and doctor tries it", async () => {
  const { output } = await onRoot(
    ["guard", "doctor", "codex"],
    `umask 077; run() { "$@" ${install.join(" ")}; }; run "$1" "$2"; stat -c %a /etc/codex ${file}`,
  );
  expect(output).toMatch(/^Installed in .*\n.*\n755\n644\n/);
  expect(output).toContain(`ok    The hook is in place for all users: ${file}`);
  expect(output).toContain("ok    A call of Codex was tried");
});

test("a program that users cannot start is not installed for them", async () => {
  const { output, errors } = await onMachine(install, { policy });
  expect([output, errors]).toEqual(["", expect.stringContaining("cannot be used by all; run chmod go+x")]);
});

test("a file that holds only our hook is replaced after the program moved; one of others stays", async () => {
  const held = (more: string) =>
    `mkdir -p /etc/codex; printf '%s\\n' 'allow_managed_hooks_only = true' "" ${more} '[[hooks.Stop]]' '[[hooks.Stop.hooks]]' "${command("/old/gennai").replaceAll('"', String.raw`\"`)}" > ${file}`;
  expect((await onRoot(install, held(""))).output).toContain("Installed in");
  expect((await onRoot(["guard", "uninstall", "codex", "--managed"], held(""))).output).toContain(`Removed ${file}`);
  const others = await onRoot(install, held("'model = 1'"));
  expect(others.code).toBe(1);
  expect(others.output).toMatch(/stays as it is\. Add this at the top:\nallow_managed_hooks_only = true\nAnd below/);
  const kept = await onRoot(["guard", "uninstall", "codex", "--managed"], held("'model = 1'"));
  expect([kept.code, kept.output]).toEqual([1, expect.stringContaining("holds more than our hook")]);
});
