import { writeSignedPolicy } from "@gennai/testkit/signed-policy";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTokenIssuer } from "@gennai/testkit/token-issuer";
import { expect, test } from "vitest";
import { openTokenVerifier } from "#identity/open-token-verifier";
import { warnOfUsers } from "#identity/warn-of-users";

const claims = { user: "sub", tenant: undefined, roles: "roles", adminRole: undefined, approverRole: undefined };

test("a server says at the start that its users may only read, and that the issuer is away", async () => {
  await using issuer = await startTokenIssuer();
  await using home = await temporaryDirectory();
  const directory = home.path("");
  const warnings = async (): Promise<readonly string[]> => {
    const said: string[] = [];
    const verifier = openTokenVerifier({
      issuer: issuer.issuer,
      audiences: ["gennai"],
      claims,
      jwks: issuer.jwksUrl.href,
    });
    const files = { environment: {}, configDir: directory, stateDir: directory, version: "0.2.0" };
    await warnOfUsers(verifier, files, { warn: (text) => void said.push(text) });
    return said;
  };
  expect(await warnings()).toEqual([expect.stringMatching(/^Users may only read: .*no policy was found/)]);
  await writeSignedPolicy(directory);
  expect(await warnings()).toEqual([]);
  issuer.fail(500);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^No user gets in as long as the issuer's keys are missing: /),
  ]);
});
