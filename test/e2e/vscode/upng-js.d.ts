declare module "upng-js" {
  interface Image {
    readonly width: number;
    readonly height: number;
  }
  const UPNG: {
    decode(png: ArrayBuffer): Image;
    /** A frame each: of a picture that does not move, one. */
    toRGBA8(image: Image): ArrayBuffer[];
    /** @param colours 0: as it is; else the most that it may have */
    encode(frames: readonly ArrayBuffer[], width: number, height: number, colours: number): ArrayBuffer;
  };
  export default UPNG;
}
