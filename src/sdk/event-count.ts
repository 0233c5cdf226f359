/** `1 event`, `2 events`. */
export const eventCount = (events: number): string => (events === 1 ? "1 event" : `${events} events`);
