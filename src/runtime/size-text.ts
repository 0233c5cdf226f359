const UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

/** As disks are sold: 1 GB has 10⁹ bytes. With `of`, `3.1 of 12.0 MB`: both in the unit of the larger. */
export const sizeText = (bytes: number, of?: number): string => {
  let power = 0;
  while ((of ?? bytes) >= 1000 ** (power + 1) && power < UNITS.length - 1) power++;
  const inUnit = (size: number): string => (size / 1000 ** power).toFixed(power === 0 ? 0 : 1);
  return `${inUnit(bytes)}${of === undefined ? "" : ` of ${inUnit(of)}`} ${UNITS[power]}`;
};
