import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";

/** All in PEM. */
export interface RunCertificates {
  /** Certificate of the authority, for programs of the run to trust. Its key is gone. */
  readonly authority: string;
  /** Certificate for exactly these hosts, with its key, which never leaves this process. */
  readonly certificate: string;
  readonly key: string;
}

const aDay = 86_400_000;
const ecdsaWithSha256 = "1.2.840.10045.4.3.2";
const commonName = "2.5.4.3";

/**
 * Makes an authority that signs one certificate: its key is gone when this resolves. For a run in which this process answers in
 * place of a host.
 *
 * @param hosts names and addresses
 */
export async function makeRunCertificates(hosts: readonly string[]): Promise<RunCertificates> {
  const [authority, server] = await Promise.all([newKeys(), newKeys()]);
  const issuer = { name: `Gennai, for one run ${randomBytes(4).toString("hex")}`, ...authority };
  const keyId = createHash("sha256").update(spkiOf(authority.publicKey)).digest().subarray(0, 20);
  const own = signed({ subject: issuer.name, publicKey: authority.publicKey }, issuer, [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), { critical: true }),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign), { critical: true }),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId)),
  ]);
  const names = hosts.map((host) => new GeneralName(isIP(host) === 0 ? { dNSName: host } : { iPAddress: host }));
  const certificate = signed({ subject: "Gennai", publicKey: server.publicKey }, issuer, [
    extension(id_ce_subjectAltName, new SubjectAlternativeName(names)),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), { critical: true }),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth])),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(keyId) })),
  ]);
  const key = server.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { authority: pem(own), certificate: pem(certificate), key };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function newKeys(): Promise<Keys> {
  return promisify(generateKeyPair)("ec", { namedCurve: "P-256" });
}

function signed(
  { subject, publicKey }: { readonly subject: string; readonly publicKey: KeyObject },
  issuer: { readonly name: string; readonly privateKey: KeyObject },
  extensions: readonly Extension[],
): Buffer {
  const now = Date.now();
  const signature = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // Positive, and always of full length.
    serialNumber: bytesOf(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    signature,
    issuer: named(issuer.name),
    subject: named(subject),
    // The clocks of the sandbox and this process agree; those of tests may not.
    validity: new Validity({ notBefore: new Date(now - aDay), notAfter: new Date(now + 2 * aDay) }),
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions([...extensions]),
  });
  const signatureValue = bytesOf(sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), issuer.privateKey));
  const whole = new Certificate({ tbsCertificate, signatureAlgorithm: signature, signatureValue });
  return Buffer.from(AsnConvert.serialize(whole));
}

function named(text: string): Name {
  const value = new AttributeValue({ utf8String: text });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })])]);
}

function extension(extnID: string, value: object, { critical = false } = {}): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function bytesOf(buffer: Buffer): ArrayBuffer {
  return Uint8Array.from(buffer).buffer;
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
