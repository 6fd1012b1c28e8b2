/* SPDX-License-Identifier: BSD-2-Clause */
/*
   Products in the AMB format on a CUDA device whose values are stored as places in a table
*/
#include "mat/impls/amb/ambcudamult.cuh"

#define STORED SYS_STORAGE_PLACES

/* Each kernel takes four steps at a time, the deep ones eight */
const AmbLaunchers AmbLaunchersPlaces = {
  {AmbMultLaunch<1,  4, 6, STORED>, AmbMultLaunch<1,  8, 4, STORED>},
  {AmbMultLaunch<2,  4, 5, STORED>, AmbMultLaunch<2,  8, 4, STORED>},
  {AmbMultLaunch<3,  4, 4, STORED>, AmbMultLaunch<3,  8, 3, STORED>},
  {AmbMultLaunch<4,  4, 4, STORED>, AmbMultLaunch<4,  8, 3, STORED>},
  {AmbMultLaunch<5,  4, 4, STORED>, AmbMultLaunch<5,  8, 3, STORED>},
  {AmbMultLaunch<6,  4, 4, STORED>, AmbMultLaunch<6,  8, 2, STORED>},
  {AmbMultLaunch<7,  4, 4, STORED>, AmbMultLaunch<7,  8, 2, STORED>},
  {AmbMultLaunch<8,  4, 4, STORED>, AmbMultLaunch<8,  8, 2, STORED>},
  {AmbMultLaunch<9,  4, 4, STORED>, AmbMultLaunch<9,  8, 2, STORED>},
  {AmbMultLaunch<10, 4, 3, STORED>, AmbMultLaunch<10, 8, 2, STORED>}
};
