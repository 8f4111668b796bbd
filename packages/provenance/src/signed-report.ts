import { encodeSignature, type Signer } from "@gennai/governance/ledger/ledger-signature";
import type { ChangeReport } from "./change-report.ts";

const payloadType = "application/vnd.in-toto+json";

/**
 * A report as a Statement v1 of in-toto about commits, in an envelope of DSSE: JSON, one line.
 * @param commits whole ids, at least one
 */
export function signedReport(report: ChangeReport, commits: readonly string[], signer: Signer): string {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: commits.map((id) => ({ digest: { gitCommit: id } })),
    predicateType: "https://gennai.dev/change-report/v1",
    predicate: report,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const head = Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `);
  const sig = encodeSignature(signer.sign(Buffer.concat([head, payload])));
  return JSON.stringify({
    payloadType,
    payload: payload.toString("base64"),
    signatures: [{ keyid: signer.keyId, sig }],
  });
}
