import * as z from "zod";

const endpoints: Readonly<Record<string, RegExp>> = {
  otlp: /^https?:\/\/[^/]/,
  webhook: /^https?:\/\/[^/]/,
  syslog: /^(?:tcp|tls):\/\/[^/:]+:\d{1,5}$/,
  file: /^(?:\/|[A-Za-z]:\\)/,
};

/** Where the ledger's records are sent; in a policy, and in `server.json`. */
export const exportSchema = z
  .strictObject({
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
    content: z.enum(["none", "paths"]).optional().describe("`paths`: of changed files as well; `none` without it."),
    headers_file: z
      .string()
      .optional()
      .describe("Absolute path of a file with a header a line, as `Authorization: Bearer …`."),
    ca_file: z.string().optional().describe("Absolute path of certificates to trust, PEM."),
  })
  .refine(({ to, endpoint }) => endpoints[to]?.test(endpoint) === true, {
    message: "the endpoint does not fit `to`",
    path: ["endpoint"],
  });

export type ExportDestination = z.infer<typeof exportSchema>;
