import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates, type TestCertificates } from "@gennai/testkit/test-certificates";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

beforeEach(() => {
  // It would outrank git's own setting.
  vi.stubEnv("GIT_SSL_CAINFO", undefined);
});
afterEach(() => vi.unstubAllEnvs());

test("programs speak TLS with a host that was let through, and believe the certificates that they are told to", async () => {
  await using certificates = await makeTestCertificates();
  await using host = await tlsHost(certificates);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${host.port}`, host.port);
  const outputs = await agreed(outside, { "ca.crt": certificates.ca }, [
    `curl -sS -m 20 --cacert ca.crt ${host.url}/curl`,
    `curl -sS -m 20 ${host.url}/nobody`,
    `NODE_EXTRA_CA_CERTS=ca.crt node -e 'fetch("${host.url}/node").then((page) => page.text()).then(console.log)'`,
    `git -c http.sslCAInfo=$PWD/ca.crt ls-remote ${host.url}/r.git`,
  ]);
  expect(outputs[0]).toContain("forty-two");
  expect(outputs[1]).toContain("certificate");
  expect(outputs[2]).toContain("forty-two");
  expect(host.asked).toEqual(["/curl", "/node", "/r.git/info/refs?service=git-upload-pack"]);
});

test("certificates that the user's own environment names are believed, and a file with a key among them is not there", async () => {
  await using certificates = await makeTestCertificates();
  await using host = await tlsHost(certificates);
  const { key } = await certificates.issue("other");
  await using home = await temporaryDirectory({
    "corp/ca.pem": certificates.ca,
    "corp/both.pem": `${certificates.ca}${readFileSync(key, "utf8")}`,
  });
  vi.stubEnv("HOME", home.root);
  for (const name of ["NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"]) vi.stubEnv(name, home.path("corp/ca.pem"));
  vi.stubEnv("REQUESTS_CA_BUNDLE", home.path("corp/both.pem"));
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${host.port}`, host.port);
  const outputs = await agreed(outside, {}, [
    `ls ~/corp; curl -sS -m 20 ${host.url}/curl`,
    `node -e 'fetch("${host.url}/node").then((page) => page.text()).then(console.log)'`,
  ]);
  expect(outputs[0]).toMatch(/^ca\.pem\nforty-two$/m);
  expect(outputs[1]).toContain("forty-two");
  expect(host.asked).toEqual(["/curl", "/node"]);
});

/** What the model reads of each command, with a yes to the host. */
async function agreed(
  outside: TestOutside,
  files: Readonly<Record<string, string>>,
  commands: readonly string[],
): Promise<readonly string[]> {
  await using server = await networked(outside, commands, files);
  await using session = await AskedSession.start(server);
  const outputs: string[] = [];
  for (const command of commands) {
    const { questions, output } = await session.turn("once");
    expect(questions[0]?.title, `${command}\n${output}`).toContain("reach 127.0.0.1:");
    outputs.push(output);
  }
  return outputs;
}

async function tlsHost(certificates: TestCertificates) {
  const { cert, key } = await certificates.issue("server");
  const asked: string[] = [];
  const host = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, ({ url }, response) => {
    asked.push(url ?? "");
    response.end("forty-two\n");
  });
  const { port, ...closing } = await listening(host);
  return {
    asked,
    port,
    // That is the name in the certificate.
    url: `https://localhost:${port}`,
    ...closing,
  };
}
