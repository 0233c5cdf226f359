/** Whether 32 bytes can be a public key of Ed25519 at all. node:crypto takes any on Bun and Node, and only points of the curve on Deno. */

const PRIME = 2n ** 255n - 19n;
const SIGN_BIT = 2n ** 255n;

/** RFC 8032 §5.1.3, without the point itself: -x² + y² = 1 + dx²y² with d = -121665/121666, so x² is a square only where the product of 121666(y² - 1) and 121666 - 121665y² is one. */
export const isCurvePoint = (publicKey: Uint8Array): boolean => {
  const encoded = BigInt(`0x${Buffer.from(publicKey.toReversed()).toString("hex")}`);
  const y = encoded % SIGN_BIT;
  if (y >= PRIME) return false;
  const square = modulo(y * y);
  // x is 0, which has no sign.
  if (square === 1n) return encoded < SIGN_BIT;
  const product = modulo(121666n * (square - 1n) * (121666n - 121665n * square));
  // Euler's criterion.
  return power(product, (PRIME - 1n) / 2n) === 1n;
};

const modulo = (value: bigint): bigint => ((value % PRIME) + PRIME) % PRIME;

const power = (base: bigint, exponent: bigint): bigint => {
  let [result, factor] = [1n, base];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = modulo(result * factor);
    factor = modulo(factor * factor);
  }
  return result;
};
