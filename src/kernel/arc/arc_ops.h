/* arc_ops.h - the primitives: one table for the compiler, the virtual machine and `quern arc ops`.
 *
 * X(number, name, arity, class, default, priority)
 *
 * number    the opcode; it determines the order of primitives as values, so numbers never change
 * class     S scalar, L linear, Q more than linear, H calls a function per element, K makes a
 *           closure
 * default   the value of a guarded step when the primitive fails
 * priority  1 to 3: the order in which primitives leave the CPU under --op-priority
 */
#ifndef ARC_OPS_H
#define ARC_OPS_H

/* clang-format off */
#define ARC_OPS(X) \
    X(0, identity, 1, S, TUPLE, 3) \
    X(1, add, 2, S, INT, 3) \
    X(2, subtract, 2, S, INT, 3) \
    X(3, multiply, 2, S, INT, 3) \
    X(4, divide, 2, S, INT, 3) \
    X(5, invert, 1, S, INT, 3) \
    X(6, even, 1, S, BOOL, 3) \
    X(7, double, 1, S, INT, 3) \
    X(8, halve, 1, S, INT, 3) \
    X(9, flip, 1, S, BOOL, 3) \
    X(10, equality, 2, L, BOOL, 3) \
    X(11, contained, 2, L, BOOL, 3) \
    X(12, combine, 2, L, TUPLE, 3) \
    X(13, intersection, 2, L, SET, 3) \
    X(14, difference, 2, L, TUPLE, 2) \
    X(15, dedupe, 1, Q, TUPLE, 3) \
    X(16, order, 2, H, TUPLE, 3) \
    X(17, repeat, 2, L, TUPLE, 3) \
    X(18, greater, 2, S, BOOL, 3) \
    X(19, size, 1, S, INT, 3) \
    X(20, merge, 1, L, TUPLE, 2) \
    X(21, maximum, 1, L, TUPLE, 3) \
    X(22, minimum, 1, L, TUPLE, 3) \
    X(23, valmax, 2, H, TUPLE, 3) \
    X(24, valmin, 2, H, TUPLE, 3) \
    X(25, argmax, 2, H, TUPLE, 3) \
    X(26, argmin, 2, H, TUPLE, 3) \
    X(27, mostcommon, 1, Q, TUPLE, 3) \
    X(28, leastcommon, 1, Q, TUPLE, 3) \
    X(29, initset, 1, S, SET, 3) \
    X(30, both, 2, S, TUPLE, 3) \
    X(31, either, 2, S, TUPLE, 3) \
    X(32, increment, 1, S, INT, 3) \
    X(33, decrement, 1, S, INT, 3) \
    X(34, crement, 1, S, INT, 3) \
    X(35, sign, 1, S, INT, 3) \
    X(36, positive, 1, S, BOOL, 3) \
    X(37, toivec, 1, S, TUPLE, 3) \
    X(38, tojvec, 1, S, TUPLE, 3) \
    X(39, sfilter, 2, H, TUPLE, 3) \
    X(40, mfilter, 2, H, TUPLE, 3) \
    X(41, extract, 2, H, TUPLE, 3) \
    X(42, totuple, 1, L, TUPLE, 3) \
    X(43, first, 1, S, TUPLE, 3) \
    X(44, last, 1, S, TUPLE, 3) \
    X(45, insert, 2, L, SET, 3) \
    X(46, remove, 2, L, TUPLE, 3) \
    X(47, other, 2, L, TUPLE, 3) \
    X(48, interval, 3, L, TUPLE, 3) \
    X(49, astuple, 2, S, TUPLE, 3) \
    X(50, product, 2, Q, SET, 3) \
    X(51, pair, 2, L, TUPLE, 3) \
    X(52, branch, 3, S, TUPLE, 3) \
    X(53, compose, 2, K, FN, 3) \
    X(54, chain, 3, K, FN, 3) \
    X(55, matcher, 2, K, FN, 3) \
    X(56, rbind, 2, K, FN, 3) \
    X(57, lbind, 2, K, FN, 3) \
    X(58, power, 2, K, FN, 3) \
    X(59, fork, 3, K, FN, 3) \
    X(60, apply, 2, H, TUPLE, 2) \
    X(61, rapply, 2, H, TUPLE, 3) \
    X(62, mapply, 2, H, TUPLE, 2) \
    X(63, papply, 3, H, TUPLE, 3) \
    X(64, mpapply, 3, H, TUPLE, 3) \
    X(65, prapply, 3, H, SET, 3) \
    X(66, mostcolor, 1, L, INT, 3) \
    X(67, leastcolor, 1, L, INT, 3) \
    X(68, height, 1, L, INT, 3) \
    X(69, width, 1, L, INT, 3) \
    X(70, shape, 1, L, TUPLE, 3) \
    X(71, portrait, 1, L, BOOL, 3) \
    X(72, colorcount, 2, L, INT, 3) \
    X(73, colorfilter, 2, L, SET, 3) \
    X(74, sizefilter, 2, L, SET, 3) \
    X(75, asindices, 1, L, SET, 3) \
    X(76, ofcolor, 2, L, SET, 3) \
    X(77, ulcorner, 1, L, TUPLE, 3) \
    X(78, urcorner, 1, L, TUPLE, 3) \
    X(79, llcorner, 1, L, TUPLE, 3) \
    X(80, lrcorner, 1, L, TUPLE, 3) \
    X(81, crop, 3, L, TUPLE, 3) \
    X(82, toindices, 1, L, SET, 3) \
    X(83, recolor, 2, L, SET, 3) \
    X(84, shift, 2, L, SET, 3) \
    X(85, normalize, 1, L, SET, 3) \
    X(86, dneighbors, 1, S, SET, 3) \
    X(87, ineighbors, 1, S, SET, 3) \
    X(88, neighbors, 1, S, SET, 3) \
    X(89, objects, 4, Q, SET, 1) \
    X(90, partition, 1, L, SET, 1) \
    X(91, fgpartition, 1, L, SET, 1) \
    X(92, uppermost, 1, L, INT, 3) \
    X(93, lowermost, 1, L, INT, 3) \
    X(94, leftmost, 1, L, INT, 3) \
    X(95, rightmost, 1, L, INT, 3) \
    X(96, square, 1, L, BOOL, 3) \
    X(97, vline, 1, L, BOOL, 3) \
    X(98, hline, 1, L, BOOL, 3) \
    X(99, hmatching, 2, L, BOOL, 3) \
    X(100, vmatching, 2, L, BOOL, 3) \
    X(101, manhattan, 2, Q, INT, 3) \
    X(102, adjacent, 2, Q, BOOL, 3) \
    X(103, bordering, 2, L, BOOL, 3) \
    X(104, centerofmass, 1, L, TUPLE, 3) \
    X(105, palette, 1, L, SET, 3) \
    X(106, numcolors, 1, L, INT, 3) \
    X(107, color, 1, S, INT, 3) \
    X(108, toobject, 2, L, SET, 3) \
    X(109, asobject, 1, L, SET, 3) \
    X(110, rot90, 1, L, TUPLE, 3) \
    X(111, rot180, 1, L, TUPLE, 3) \
    X(112, rot270, 1, L, TUPLE, 3) \
    X(113, hmirror, 1, L, TUPLE, 3) \
    X(114, vmirror, 1, L, TUPLE, 3) \
    X(115, dmirror, 1, L, TUPLE, 3) \
    X(116, cmirror, 1, L, TUPLE, 3) \
    X(117, fill, 3, L, TUPLE, 3) \
    X(118, paint, 2, L, TUPLE, 3) \
    X(119, underfill, 3, L, TUPLE, 3) \
    X(120, underpaint, 2, L, TUPLE, 3) \
    X(121, hupscale, 2, L, TUPLE, 3) \
    X(122, vupscale, 2, L, TUPLE, 3) \
    X(123, upscale, 2, L, TUPLE, 3) \
    X(124, downscale, 2, L, TUPLE, 3) \
    X(125, hconcat, 2, L, TUPLE, 3) \
    X(126, vconcat, 2, L, TUPLE, 3) \
    X(127, subgrid, 2, L, TUPLE, 3) \
    X(128, hsplit, 2, L, TUPLE, 3) \
    X(129, vsplit, 2, L, TUPLE, 3) \
    X(130, cellwise, 3, L, TUPLE, 3) \
    X(131, replace, 3, L, TUPLE, 3) \
    X(132, switch, 3, L, TUPLE, 3) \
    X(133, center, 1, L, TUPLE, 3) \
    X(134, position, 2, L, TUPLE, 3) \
    X(135, index, 2, S, INT, 3) \
    X(136, canvas, 2, L, TUPLE, 3) \
    X(137, corners, 1, L, SET, 3) \
    X(138, connect, 2, L, SET, 3) \
    X(139, cover, 2, L, TUPLE, 3) \
    X(140, trim, 1, L, TUPLE, 3) \
    X(141, move, 3, L, TUPLE, 3) \
    X(142, tophalf, 1, L, TUPLE, 3) \
    X(143, bottomhalf, 1, L, TUPLE, 3) \
    X(144, lefthalf, 1, L, TUPLE, 3) \
    X(145, righthalf, 1, L, TUPLE, 3) \
    X(146, vfrontier, 1, S, SET, 3) \
    X(147, hfrontier, 1, S, SET, 3) \
    X(148, backdrop, 1, L, SET, 3) \
    X(149, delta, 1, L, SET, 3) \
    X(150, gravitate, 2, Q, TUPLE, 3) \
    X(151, inbox, 1, L, SET, 3) \
    X(152, outbox, 1, L, SET, 3) \
    X(153, box, 1, L, SET, 3) \
    X(154, shoot, 2, L, SET, 3) \
    X(155, occurrences, 2, Q, SET, 3) \
    X(156, frontiers, 1, L, SET, 3) \
    X(157, compress, 1, L, TUPLE, 3) \
    X(158, hperiod, 1, Q, INT, 3) \
    X(159, vperiod, 1, Q, INT, 3) \
    X(160, o_g, 2, Q, SET, 1) \
    X(161, o_g_t, 2, Q, TUPLE, 3) \
    X(162, objects_t, 4, Q, TUPLE, 3) \
    X(163, p_g, 1, L, TUPLE, 1) \
    X(164, p_o, 1, L, TUPLE, 3) \
    X(165, p_f, 1, L, SET, 3) \
    X(166, difference_tuple, 2, L, TUPLE, 2) \
    X(167, second, 1, S, TUPLE, 3) \
    X(168, get_nth_t, 2, S, TUPLE, 3) \
    X(169, get_nth_f, 2, S, TUPLE, 3) \
    X(170, get_nth_by_key_t, 3, H, TUPLE, 3) \
    X(171, get_nth_by_key_f, 3, H, TUPLE, 3) \
    X(172, get_rank, 2, Q, TUPLE, 3) \
    X(173, get_arg_rank, 3, H, TUPLE, 3) \
    X(174, get_val_rank, 3, H, TUPLE, 3) \
    X(175, get_common_rank, 2, Q, TUPLE, 3) \
    X(176, get_color_rank_t, 2, L, INT, 3) \
    X(177, get_color_rank_f, 2, L, INT, 3) \
    X(178, mir_rot_t, 2, L, TUPLE, 3) \
    X(179, mir_rot_f, 2, L, SET, 3) \
    X(180, a_mr, 1, L, INT, 3) \
    X(181, c_iz, 2, H, TUPLE, 3) \
    X(182, c_zo, 2, H, TUPLE, 3) \
    X(183, c_iz_n, 3, H, TUPLE, 3) \
    X(184, c_zo_n, 3, H, TUPLE, 3) \
    X(185, dedupe_pair_tuple, 1, L, TUPLE, 3) \
    X(186, col_row, 2, L, INT, 3) \
    X(187, corner, 2, L, TUPLE, 3) \
    X(188, colorfilter_t, 2, L, TUPLE, 3) \
    X(189, sizefilter_t, 2, L, TUPLE, 3) \
    X(190, mfilter_t, 2, H, SET, 3) \
    X(191, ascell, 2, S, TUPLE, 3) \
    X(192, toij, 1, S, TUPLE, 3) \
    X(193, astriple, 3, S, TUPLE, 3) \
    X(194, celltuple, 2, L, TUPLE, 3) \
    X(195, first_of_size, 2, L, TUPLE, 3) \
    X(196, argmax_size, 1, L, TUPLE, 3) \
    X(197, argmin_size, 1, L, TUPLE, 3) \
    X(198, largest_object, 4, Q, TUPLE, 3)
/* clang-format on */

/* From this number on, primitives are made by the compiler of two others: no program names them. */
#define ARC_N_NAMED 195

#define ARC_OP_NUMBER(number, name, arity, class_, default_, priority) ARC_OP_##name = number,
enum { ARC_OPS(ARC_OP_NUMBER) ARC_N_OPS };

#endif
