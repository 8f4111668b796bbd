import { execFile } from "node:child_process";
import { chmod, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-repository.ts";

const run = promisify(execFile);

/** A certificate authority of a test, and what it signs. */
export interface TestCertificates extends AsyncDisposable {
  /** PEM, for clients to trust; also as a file. */
  readonly ca: string;
  readonly caFile: string;
  /** A certificate for localhost and 127.0.0.1, and its key (0600); in place of one in the same files. */
  issue(file: string, name?: string): Promise<{ readonly cert: string; readonly key: string }>;
}

/** Made by openssl. @param names that certificates are for, besides localhost and 127.0.0.1: `DNS:NAME` */
export async function makeTestCertificates(names: readonly string[] = []): Promise<TestCertificates> {
  const all = ["DNS:localhost", "IP:127.0.0.1", ...names].join(",");
  const directory = await temporaryDirectory({
    "extensions.cnf": `subjectAltName=${all}\nbasicConstraints=CA:FALSE\n`,
  });
  const openssl = (...args: readonly string[]) => run("openssl", args, { cwd: directory.root });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    ...["req", "-x509", ...curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA"],
  );
  const { ca, caFile } = await readCa(directory);
  return {
    ca,
    caFile,
    async issue(file, name = file) {
      await openssl("req", ...curve, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", `/CN=${name}`);
      await openssl(
        ...["x509", "-req", "-in", `${file}.csr`, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
        ...["-days", "2", "-extfile", "extensions.cnf", "-out", `${file}.pem`],
      );
      const key = directory.path(`${file}.key`);
      await chmod(key, 0o600);
      return { cert: directory.path(`${file}.pem`), key };
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

async function readCa(directory: TemporaryDirectory): Promise<{ readonly ca: string; readonly caFile: string }> {
  return { ca: await readFile(directory.path("ca.pem"), "utf8"), caFile: directory.path("ca.pem") };
}
