/** A browser has none. */
export class VsCodeTerminals {}
