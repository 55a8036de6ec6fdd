// What packages use of util/net.
export { isHttpUrl, embeddedIpv4, isLoopback, isLoopbackUrl, reachesThisMachine } from './loopback.ts'
export { fitsSocketAddress, listenForAnyUser, shortFolder } from './unix-socket.ts'
