import { ConnectError } from "@connectrpc/connect";
import { connect } from "@gennai/client/connection/connection";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { reachProblem } from "#terminal/reach-problem";

const problem = (baseUrl: string) =>
  connect({ baseUrl })
    .getServerInfo({})
    .then(
      () => "reached",
      (error: unknown) => reachProblem(ConnectError.from(error)),
    );

test("nobody there, a certificate that is not trusted, and a server that says why", async () => {
  await using certificates = await makeTestCertificates();
  const tls = await certificates.issue("server");
  await using encrypted = await startTestServer({ server: { tls } });
  await using plain = await startTestServer();
  expect(await problem("http://127.0.0.1:2")).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:2");
  expect(await problem(`https://127.0.0.1:${encrypted.port}`)).toMatch(/^fetch failed: unable to verify .*certificate/);
  expect(await problem(plain.url)).toBe("send the server's token: Authorization: Bearer <token>");
});
