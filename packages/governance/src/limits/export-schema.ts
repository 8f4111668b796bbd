import * as z from "zod";

const endpoints: Readonly<Record<string, RegExp>> = {
  otlp: /^https?:\/\/[^/]/,
  webhook: /^https?:\/\/[^/]/,
  syslog: /^(?:tcp|tls):\/\/[^/:]+:\d{1,5}$/,
  file: /^(?:\/|[A-Za-z]:\\)/,
};

const fields = {
  name: z
    .string()
    .regex(/^[\w.-]{1,40}$/, "not 1 to 40 letters, digits, _, . or -")
    .describe("Names this export; the server remembers under it how far it has sent."),
  to: z.enum(["otlp", "syslog", "file", "webhook"]).describe("How it is sent."),
  endpoint: z
    .string()
    .max(2_000)
    .describe(
      "An address; for `syslog` `tcp://HOST:PORT` or `tls://HOST:PORT`, for `file` an absolute path. OTLP adds `/v1/logs`.",
    ),
  protocol: z.enum(["http/protobuf", "http/json"]).optional().describe("For `otlp`; `http/protobuf` without it."),
  format: z.enum(["gennai", "ocsf"]).optional().describe("For `file`, `webhook` and `syslog`; `gennai` without it."),
  content: z
    .enum(["none", "paths", "redacted"])
    .optional()
    .describe(
      "`paths`: of changed files as well; `redacted`: these, and what tools were called with, masked once more; `none` without it. Not in OCSF.",
    ),
  headers_file: z
    .string()
    .optional()
    .describe("Absolute path of a file with a header a line, as `Authorization: Bearer …`."),
  ca_file: z.string().optional().describe("Absolute path of certificates to trust, PEM."),
};

const fits = {
  message: "the endpoint does not fit `to`",
  path: ["endpoint"],
};
const isEndpoint = ({ to, endpoint }: { readonly to: string; readonly endpoint: string }): boolean =>
  endpoints[to]?.test(endpoint) === true;

/** Where the ledger's records are sent; in `server.json`. */
export const exportSchema = z.strictObject(fields).refine(isEndpoint, fits);

/** The same in a policy, which may want records to be there. */
export const managedExportSchema = z
  .strictObject({
    ...fields,
    required: z
      .boolean()
      .optional()
      .describe("Where records are not sent for too long, the machine only reads; not without it."),
    most_behind_hours: z
      .int()
      .min(1)
      .max(8_760)
      .optional()
      .describe("With `required`: how old the oldest record may become that is not sent; 24 without it."),
  })
  .refine(isEndpoint, fits);

export type ExportDestination = z.infer<typeof managedExportSchema>;
