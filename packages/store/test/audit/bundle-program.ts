import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { bundleParts } from "#audit/bundle-parts";
import { exportLedgerBundle } from "#audit/export-bundle";
import { verifyLedgerBundle } from "#audit/ledger-bundle";
import { rememberingRedactor } from "../../src/audit/remembering-redactor.ts";

// Exports a bundle, checks it, and prints the report as JSON. Arguments: state directory, workspace, file.
const [stateDir = "", workspaceRoot = "", file = ""] = process.argv.slice(2);
const redactor = rememberingRedactor(await createRedactor());
const lines = exportLedgerBundle({ stateDir, workspaceRoot }, { redactor, now: Date.now, parts: new Set(bundleParts) });
await pipeline(lines, createWriteStream(file, { flags: "wx", mode: 0o600 }));
const report = await verifyLedgerBundle(() => createReadStream(file), undefined);
process.stdout.write(JSON.stringify(report));
