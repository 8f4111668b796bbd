import { writeFile } from "node:fs/promises";
import type { Finding } from "@gennai/machine/finding";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { z } from "zod";
import { certificateChecks, certificateFinding } from "#commands/doctor/certificate-checks";
import { runChecks } from "#commands/doctor/doctor-command";
import { cliScene } from "../../cli-scene.ts";

const from = new Date("2026-01-01T00:00:00Z");
const until = new Date("2026-06-01T00:00:00Z");

test.each<[string, Finding["state"], string]>([
  ["2026-05-01T00:00:00Z", "ok", "one.pem: in force until 2026-06-01"],
  ["2026-05-02T00:00:00Z", "warn", "one.pem: in force until 2026-06-01, 30 days from now"],
  ["2026-05-30T12:00:00Z", "warn", "one.pem: in force until 2026-06-01, 1 day from now"],
  ["2026-06-01T00:00:00Z", "fail", "one.pem: expired on 2026-06-01"],
  ["2025-12-31T23:59:59Z", "fail", "one.pem: not in force before 2026-01-01"],
])("at %s: %s, %s", (now, state, text) => {
  const finding = certificateFinding("one.pem", { from, until }, Date.parse(now), "Renew it.");
  expect(finding).toEqual({ check: "certificate", state, text, ...(state === "ok" ? {} : { next: ["Renew it."] }) });
});

const reportSchema = z.object({
  findings: z.array(z.object({ check: z.string(), state: z.string(), next: z.array(z.string()).optional() })),
});

test("the doctor looks at the certificate that a server shows, and at one in a file", async () => {
  await using certificates = await makeTestCertificates();
  const files = await certificates.issue("server");
  await using server = await startTestServer({ server: { tls: files } });
  await using scene = await cliScene({ "a.txt": "a\n" });
  const { out } = await scene.run("doctor", "--json", "--server", server.url, "--tls-cert", files.cert);
  const { findings } = reportSchema.parse(JSON.parse(out));
  // It holds for two days.
  expect(findings.filter(({ check }) => check === "certificate")).toMatchObject([
    { state: "warn", next: ["Renew the certificate; the server reads its files again at SIGHUP."] },
    { state: "warn", next: [`Renew ${files.cert}.`] },
  ]);
});

test("what holds none, and an address where nobody answers, is to be mended; http has none", async () => {
  await using scene = await cliScene({ "a.pem": "" });
  await writeFile(scene.repository.path("a.pem"), "no PEM\n");
  const urls = ["http://127.0.0.1:1", "https://127.0.0.1:1"];
  const findings = await runChecks(certificateChecks({ urls, file: scene.repository.path("a.pem") }), () => undefined);
  expect(findings.map(({ state, text }) => `${state} ${text.replace(/^\S+\/a/, "a")}`)).toEqual([
    expect.stringContaining("fail connect ECONNREFUSED"),
    "fail a.pem holds no certificate in PEM.",
  ]);
});
