/** A browser has no terminals. */
export class VsCodeTerminals {}
