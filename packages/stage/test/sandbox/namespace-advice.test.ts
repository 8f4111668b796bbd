import { expect, test } from "vitest";
import { namespaceAdvice } from "#sandbox/namespace-advice";

const refused = "bwrap: Creating new namespace failed: Operation not permitted";

test.each([
  [
    "the number of namespaces is none",
    { "user.max_user_namespaces": "0" },
    /^sudo sysctl user\.max_user_namespaces=\d+$/,
  ],
  [
    "an older Debian keeps them for root",
    { "user.max_user_namespaces": "100", "kernel.unprivileged_userns_clone": "0" },
    /^sudo sysctl kernel\.unprivileged_userns_clone=1$/,
  ],
  [
    "Ubuntu's AppArmor refuses them",
    { "user.max_user_namespaces": "100", "kernel.apparmor_restrict_unprivileged_userns": "1" },
    /profile gennai \/opt\/node flags=\(unconfined\) \{ userns, \}.*\/etc\/apparmor\.d\/gennai/,
  ],
  ["no switch is closed", { "user.max_user_namespaces": "100" }, /seccomp/],
])("where %s, the one thing to do is named", (_what, switches, advice) => {
  const said = new Map(Object.entries(switches));
  expect(namespaceAdvice(refused, "/opt/node", (name) => said.get(name))).toMatch(advice);
});

test("in a container whose /proc has covered parts, that is named before any setting", () => {
  const complaint = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted";
  expect(namespaceAdvice(complaint, "/opt/node", () => "0")).toMatch(/systempaths=unconfined.*unmask=ALL/);
});
