import { exportedRecord, gennaiLine, inputAttribute, ocsfLine } from "@gennai/governance/ledger/exported-record";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { ExportItem } from "./delivery.ts";

/** Records of one ledger as a destination gets them. */
export async function exportItems(
  { origin, records }: { readonly origin: string; readonly records: readonly { readonly line: string }[] },
  { content = "none", format }: Pick<ExportDestination, "content" | "format">,
  version: string,
): Promise<readonly ExportItem[]> {
  const redactor = content === "redacted" ? await createRedactor() : undefined;
  return Promise.all(
    records.map(async ({ line }): Promise<ExportItem> => {
      const told = exportedRecord(line, { origin, paths: content !== "none", input: redactor !== undefined });
      const input = told.attributes[inputAttribute];
      const masked =
        redactor && Array.isArray(input) && (await Promise.all(input.map((text: string) => redactor.redact(text))));
      const record = masked ? { ...told, attributes: { ...told.attributes, [inputAttribute]: masked } } : told;
      return { record, line: format === "ocsf" ? ocsfLine(record, version) : gennaiLine(record) };
    }),
  );
}
