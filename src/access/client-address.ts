/**
 * Who is calling. Without trusted proxies it is the socket's address. With N of them it is the Nth entry of X-Forwarded-For
 * from the right: each proxy appends what it saw, so everything further left was written by the client and proves nothing.
 */
export const clientAddress = (options: {
  readonly socketAddress: () => string;
  readonly forwardedFor: string | null;
  readonly trustedHops: number;
}): string => {
  const { socketAddress, forwardedFor, trustedHops } = options;
  if (trustedHops === 0 || forwardedFor === null) return socketAddress();
  const hops = forwardedFor.split(",").map((hop) => hop.trim());
  return hops.at(-trustedHops) || socketAddress();
};
