import { expect, test } from "vitest";
import { believing } from "#run/believed-certificates";

test("each kind of program is told of the run's authority, whatever the user's own variables name", () => {
  const { environment, mounts } = believing("AUTHORITY", []);
  const [file] = mounts;
  expect(file).toMatchObject({ text: expect.stringContaining("AUTHORITY\n") });
  expect(environment).toMatchObject(
    Object.fromEntries(
      [
        ..."CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_FILE GIT_SSL_CAINFO AWS_CA_BUNDLE NIX_SSL_CERT_FILE".split(" "),
        ..."NODE_EXTRA_CA_CERTS npm_config_cafile pnpm_config_cafile YARN_HTTPS_CA_FILE_PATH CARGO_HTTP_CAINFO PIP_CERT".split(
          " ",
        ),
      ].map((name) => [name, file?.path]),
    ),
  );
});

test("Java's store has each certificate of the others", () => {
  const { mounts } = believing("-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n", []);
  const [pem = "", store] = mounts.flatMap((mount) => ("text" in mount ? mount.text : []));
  const bytes = Buffer.from(store ?? "");
  expect(bytes.readUInt32BE(8)).toBe(pem.toString().match(/BEGIN/g)?.length);
  expect(bytes.subarray(-14).toString("latin1")).toBe("\0\x05X.509\0\0\0\x03ABC");
});

test("without a login that is added outside there is no authority", () => {
  expect(believing(undefined, [])).toEqual({ environment: {}, mounts: [] });
});
