import { writeFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { openTokenVerifier } from "#identity/open-token-verifier";

const issuer = "https://login.example";
const claims = { user: "sub", tenant: undefined, roles: "roles", adminRole: undefined, approverRole: undefined };

test("where keys could be anybody's, or are none, is said before the server starts", async () => {
  await using directory = await temporaryDirectory();
  writeFileSync(directory.path("empty.json"), '{"keys":[]}');
  writeFileSync(directory.path("secret.json"), '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}');
  const problem = (options: { readonly issuer?: string; readonly jwks?: string }): unknown => {
    try {
      openTokenVerifier({ issuer, audiences: ["gennai"], claims, ...options });
      return "none";
    } catch (error) {
      return error;
    }
  };
  const wrong = { code: "bad_issuer_keys", isWrongInput: true, hint: expect.stringContaining("--jwks") };
  expect(problem({})).toBe("none");
  expect(problem({ jwks: "https://login.example/keys" })).toBe("none");
  expect(problem({ issuer: "http://login.example" })).toMatchObject({
    ...wrong,
    message: expect.stringContaining("not an https URL"),
  });
  expect(problem({ jwks: "http://login.example/keys" })).toMatchObject(wrong);
  expect(problem({ jwks: directory.path("none.json") })).toMatchObject(wrong);
  expect(problem({ jwks: directory.path("empty.json") })).toMatchObject(wrong);
  expect(problem({ jwks: directory.path("secret.json") })).toMatchObject(wrong);
});
