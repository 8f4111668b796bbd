/**
 * The parts of a login to mask, also as written in an address: a token may be the user name, with any word or nothing as
 * password.
 */
export function loginSecrets(user: string, password: string): readonly string[] {
  const isFiller = password.length < 8 || /^x-oauth-basic$/i.test(password);
  const secrets = [password, ...(isFiller && user.length >= 8 ? [user] : [])];
  return [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))].filter(
    (secret) => secret !== "",
  );
}
