import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { startTokenIssuer } from "@gennai/testkit/token-issuer";
import { expect, onTestFinished, test, vi } from "vitest";

const program = builtProgram(import.meta.resolve("@gennai/cli/main"));

/** The command line in a process of its own. */
function gennai(
  args: readonly string[],
  directory: string,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, ...args], {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function said(child: ChildProcess): Promise<{ readonly code: number | null; readonly out: string }> {
  const [out, errors] = [child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream)));
  const [code] = await once(child, "exit");
  return { code: typeof code === "number" ? code : null, out: `${await out}${await errors}` };
}

test("many users over TLS: the server renews its certificate, clients need its authority", async () => {
  await using issuer = await startTokenIssuer();
  await using certificates = await makeTestCertificates();
  await using place = await temporaryDirectory({ "jwks.json": JSON.stringify({ keys: issuer.keys }) });
  const { cert, key } = await certificates.issue("first");
  const server = gennai(
    [
      ...["serve", "--port", "0", "--tls-cert", cert, "--tls-key", key, "--commands", "ask"],
      ...["--auth", "oidc", "--issuer", issuer.issuer, "--audience", "gennai", "--jwks", "jwks.json"],
      ...["--tenant-claim", "org", "--workspace-root", "workspaces"],
    ],
    place.root,
    { GENNAI_STATE_DIR: place.path("state") },
  );
  let output = "";
  for (const stream of [server.stdout, server.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  await vi.waitFor(() => expect(output).toContain("Stop with"));
  expect(output).toContain("each user's own, issued by");
  const url = /https:\S+/.exec(output)?.[0] ?? "";
  const port = Number(new URL(url).port);

  const list = async (token: string, ca: string): Promise<{ readonly code: number | null; readonly out: string }> => {
    await writeFile(place.path("token"), token, { mode: 0o600 });
    const environment = { GENNAI_STATE_DIR: place.path("other-state"), NODE_EXTRA_CA_CERTS: ca };
    return said(gennai(["sessions", "--server", url, "--auth-token-file", "token"], place.root, environment));
  };
  const token = await issuer.sign({ user: "ada", tenant: "acme" });
  expect(await list(token, certificates.caFile)).toMatchObject({
    code: 0,
    out: expect.stringContaining("No sessions yet"),
  });
  expect((await list(token, "")).code).not.toBe(0);
  expect((await list(await issuer.sign({ user: "ada" }), certificates.caFile)).code).not.toBe(0);

  await writeFile(place.path("token"), token, { mode: 0o600 });
  const environment = { GENNAI_STATE_DIR: place.path("other-state"), NODE_EXTRA_CA_CERTS: certificates.caFile };
  const opened = gennai(["open", "--server", url, "--auth-token-file", "token"], place.root, environment);
  expect(await said(opened)).toMatchObject({ code: 0, out: expect.stringContaining(`Open ${url}/#`) });

  const served = async (): Promise<string> => {
    const socket = connectTls({ port, host: "127.0.0.1", ca: certificates.ca });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return String(subject.CN);
  };
  expect(await served()).toBe("first");
  await certificates.issue("first", "renewed");
  server.kill("SIGHUP");
  await vi.waitFor(async () => expect(await served()).toBe("renewed"));
  await writeFile(cert, "no certificate");
  server.kill("SIGHUP");
  await vi.waitFor(() => expect(output).toContain("could not be renewed"));
  expect(await served()).toBe("renewed");
});
