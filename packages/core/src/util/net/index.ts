// What packages use of util/net.
export { isHttpUrl, embeddedIpv4, isLoopback, isLoopbackUrl, reachesThisMachine } from './loopback.ts'
export { listen } from './listen.ts'
export { fitsSocketAddress, shortFolder } from './unix-socket.ts'
