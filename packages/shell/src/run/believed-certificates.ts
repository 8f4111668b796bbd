import { keyDirectory } from "@gennai/egress/keys/git/key-git";
import type { AddedLogin } from "@gennai/egress/network/added-login";
import { usualAuthorities } from "@gennai/egress/network/usual-authorities";
import { certificateVariables } from "@gennai/machine/process/certificate-variables";
import type { RunMount } from "@gennai/stage/staged-command";

const file = `${keyDirectory}/authorities.crt`;
const javaFile = `${keyDirectory}/authorities.jks`;
const wgetSettings = `${keyDirectory}/wgetrc`;

/**
 * Makes the programs of one run trust a further authority besides the usual ones and the user's. Sets the variables of all kinds
 * of programs, because package managers start each other.
 *
 * @param authority in PEM
 */
export function believing(
  authority: string | undefined,
  logins: readonly AddedLogin[],
): { readonly environment: Readonly<Record<string, string>>; readonly mounts: readonly RunMount[] } {
  if (authority === undefined) return { environment: {}, mounts: [] };
  const all = [...usualAuthorities(), ...logins.flatMap(({ trusted }) => trusted), authority];
  const text = `${[...new Set(all.map((one) => one.trim()))].join("\n")}\n`;
  return {
    environment: {
      ...Object.fromEntries(variables.map((name) => [name, file])),
      WGETRC: wgetSettings,
      // Java itself has a variable too, of which it tells each time.
      MAVEN_OPTS: `-Djavax.net.ssl.trustStore=${javaFile} -Djavax.net.ssl.trustStoreType=JKS`,
    },
    mounts: [
      { path: file, text },
      { path: javaFile, text: javaAuthorities(text) },
      // It knows no variable for them.
      { path: wgetSettings, text: `ca_certificate = ${file}\n` },
    ],
  };
}

/** Most replace the authorities that a program trusts by default; a variable of the user's would else do so. */
const variables: readonly string[] = [...certificateVariables, "pnpm_config_cafile", "YARN_HTTPS_CA_FILE_PATH"];

/**
 * A store of trusted certificates as Java reads it (JKS), for it reads no PEM. It is opened without a password, so that nothing
 * is compared with the hash at its end, which is left out.
 *
 * @param certificates in PEM
 */
function javaAuthorities(certificates: string): Uint8Array {
  const all = [...certificates.matchAll(/-----BEGIN CERTIFICATE-----([\w+/=\s]+)-----END CERTIFICATE-----/g)];
  const entries = all.flatMap(([, base64 = ""], at) => {
    const der = Buffer.from(base64, "base64");
    return [number(trustedCertificate), text(`a${at}`), Buffer.alloc(8), text("X.509"), number(der.length), der];
  });
  return Buffer.concat([number(0xfe_ed_fe_ed), number(2), number(all.length), ...entries]);
}

const trustedCertificate = 2;

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** In ASCII, behind its length. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.of(value.length >> 8, value.length & 255), Buffer.from(value)]);
}
