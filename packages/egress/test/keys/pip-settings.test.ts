import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { loginSecrets } from "#keys/login/login-secrets";
import { pipIndexes } from "#keys/registries/pip-settings";

test.each([
  ["https://pip.example/simple/", true],
  ["https://pip.example:443/other/", true],
  ["http://pip.example/simple/", false],
  ["https://pip.example:8443/simple/", false],
  ["http://pip.example:8080/simple/", true],
  ["http://pip.example:8081/simple/", false],
])("for %s, which the command names, ~/.netrc has a login: %s", async (named, has) => {
  await using home = await temporaryDirectory({
    ".netrc": "machine pip.example login me password secret\n",
    ".config/pip/pip.conf": "[global]\nextra-index-url = http://pip.example:8080/simple/\n",
  });
  const [first] = pipIndexes({ home: home.root, environment: {} }, named);
  expect(first?.login !== undefined).toBe(has);
});

test.each([
  ["me", "correct horse", ["correct horse", "correct%20horse"]],
  ["long-user-name", "correct-horse", ["correct-horse"]],
  ["token-0123456789", "", ["token-0123456789"]],
  ["token-0123456789", "x", ["x", "token-0123456789"]],
  ["token/0123456789", "x-oauth-basic", ["x-oauth-basic", "token/0123456789", "token%2F0123456789"]],
])("of %s with %j, %j is masked", (user, password, secrets) => {
  expect(loginSecrets(user, password)).toEqual(secrets);
});
