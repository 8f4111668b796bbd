// Node's packages name their platform by a word ("os": "win32"), where pnpm looks for lists. Without them it would bring Windows'
// Node to Linux, too.
/** @param {Record<string, unknown>} manifest */
function readPackage(manifest) {
  for (const key of ["os", "cpu"]) if (typeof manifest[key] === "string") manifest[key] = [manifest[key]];
  return manifest;
}

module.exports = { hooks: { readPackage } };
