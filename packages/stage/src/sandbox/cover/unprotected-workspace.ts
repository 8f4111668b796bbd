/** The workspace in its present state cannot be protected. */
export class UnprotectedWorkspace extends Error {
  override readonly name = "UnprotectedWorkspace";
}
