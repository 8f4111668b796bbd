/**
 * A store of trusted certificates as Java reads it (JKS), for it reads no PEM. It is opened without a password, so that nothing
 * is compared with the hash at its end, which is left out.
 *
 * @param certificates in PEM
 */
export function javaAuthorities(certificates: string): Uint8Array {
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
