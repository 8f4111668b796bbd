/** What of a login is to be masked, also as it stands in an address: a token may be the user's name, with a word or nothing for a password. */
export function loginSecrets(user: string, password: string): readonly string[] {
  const isFiller = password.length < 8 || /^x-oauth-basic$/i.test(password);
  const secrets = [password, ...(isFiller && user.length >= 8 ? [user] : [])];
  return [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))].filter(
    (secret) => secret !== "",
  );
}
